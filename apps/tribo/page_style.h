// Style sheet and script of the compare page.
#pragma once

#include <cstddef>

namespace tribo::cli {

// Colours c0 ... c7 of the series: distinguishable with the common kinds of colour blindness, and repeated
// beyond.
inline constexpr std::size_t kSeriesColors = 8;

inline constexpr const char* kPageStyle = R"css(
:root { color-scheme: light dark; --page: #fff; --panel: #f6f7f9; --ink: #1a1f29; --muted: #667085; --line: #e2e5ea;
  --good: #067a46; --bad: #b42318; --c0: #0b6bcb; --c1: #d9560b; --c2: #0a8f6c; --c3: #b4499a; --c4: #a37400;
  --c5: #2e9bd6; --c6: #7a5af5; --c7: #5f6b7a; }
@media (prefers-color-scheme: dark) {
  :root { --page: #12151b; --panel: #1a1f28; --ink: #e6e9ef; --muted: #98a2b3; --line: #2c333f; --good: #4cc38a;
    --bad: #ff8f80; --c0: #5aa9ff; --c1: #ff955c; --c2: #3fd0a4; --c3: #e58bd0; --c4: #e0b341; --c5: #79cdf5;
    --c6: #ab96ff; --c7: #a5afbd; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 6px; letter-spacing: -.01em; }
h2 { font-size: 18px; margin: 44px 0 4px; }
h3 { font-size: 14px; margin: 0 0 4px; font-weight: 600; overflow-wrap: anywhere; }
p { margin: 4px 0 14px; max-width: 92ch; }
.muted, .note { color: var(--muted); }
.note { font-size: 13.5px; }
.facts { display: flex; flex-wrap: wrap; gap: 4px 22px; color: var(--muted); font-size: 13.5px; margin: 0 0 8px; }
.facts b { color: var(--ink); font-weight: 600; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 7px 12px; text-align: left; white-space: nowrap; }
th { background: var(--panel); font-weight: 600; border-bottom: 1px solid var(--line); }
tbody tr + tr td { border-top: 1px solid var(--line); }
tbody tr:hover td { background: var(--panel); }
.number { text-align: right; }
th button { all: unset; cursor: pointer; }
th button:focus-visible { outline: 2px solid var(--c0); outline-offset: 2px; border-radius: 2px; }
th[aria-sort] button::after { content: " \2191"; color: var(--muted); }
th[aria-sort=descending] button::after { content: " \2193"; }
.best { font-weight: 700; color: var(--good); }
.failed { color: var(--bad); }
.swatch { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 7px; vertical-align: -1px; }
.share { display: inline-block; width: 90px; height: 7px; border-radius: 4px; background: var(--line); margin-left: 10px;
  overflow: hidden; vertical-align: 1px; }
.share i { display: block; height: 100%; background: currentColor; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 8px; margin: 6px 0 10px; font-size: 13.5px; }
.legend span { padding: 2px 8px; border-radius: 6px; cursor: default; }
.legend span:hover { background: var(--panel); }
.plot { display: block; width: 100%; height: auto; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(420px, 100%), 1fr)); gap: 24px; }
.grid { stroke: var(--line); stroke-width: 1; }
.mark { stroke: var(--muted); stroke-dasharray: 4 4; }
.tick, .axis { fill: var(--muted); font-size: 12px; }
.axis { font-size: 12.5px; }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); }
.c4 { --c: var(--c4); } .c5 { --c: var(--c5); } .c6 { --c: var(--c6); } .c7 { --c: var(--c7); }
.dot { fill: var(--c); }
.curve { fill: none; stroke: var(--c); stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round; }
.hollow { fill: var(--page); stroke: var(--c); stroke-width: 1.8; }
.series { transition: opacity .12s; }
.series.dim { opacity: .12; }
.switch { display: inline-flex; border: 1px solid var(--line); border-radius: 7px; overflow: hidden; margin: 0 0 10px; }
.switch button { border: 0; background: none; color: inherit; font: inherit; font-size: 13px; padding: 4px 12px; cursor: pointer; }
.switch button[aria-pressed=true] { background: var(--panel); font-weight: 600; }
[hidden] { display: none !important; }
details { margin-top: 14px; }
summary { cursor: pointer; font-weight: 600; margin-bottom: 10px; }
footer { margin-top: 48px; color: var(--muted); font-size: 13px; }
@media print { main { max-width: none; padding: 0; } .switch { display: none; } }
)css";

// Sorting by a column, dimming all series but one, switching between plots. The page reads well without it.
inline constexpr const char* kPageScript = R"js(
for (const head of document.querySelectorAll('th button')) head.addEventListener('click', () => {
  const th = head.parentElement, table = th.closest('table'), body = table.tBodies[0];
  const column = [...th.parentElement.children].indexOf(th);
  const descending = th.getAttribute('aria-sort') === 'ascending';
  for (const other of table.querySelectorAll('th')) other.removeAttribute('aria-sort');
  th.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
  const key = row => { const cell = row.cells[column], v = cell.dataset.value; return v === undefined ? cell.textContent : +v; };
  const order = (a, b) => { const x = key(a), y = key(b);
    return typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), undefined, {numeric: true}); };
  [...body.rows].sort((a, b) => descending ? order(b, a) : order(a, b)).forEach(row => body.append(row));
});
// A colour means the same solver within an element of class colors, or else on the whole page.
const focus = (item, which) => { for (const g of (item.closest('.colors') ?? document).querySelectorAll('.series'))
  g.classList.toggle('dim', which !== null && g.dataset.series !== which); };
for (const item of document.querySelectorAll('[data-series]')) {
  item.addEventListener('mouseenter', () => focus(item, item.dataset.series));
  item.addEventListener('mouseleave', () => focus(item, null));
}
for (const button of document.querySelectorAll('.switch button')) button.addEventListener('click', () => {
  for (const other of button.parentElement.children) {
    other.setAttribute('aria-pressed', other === button);
    document.getElementById(other.dataset.shows).hidden = other !== button;
  }
});
)js";

}  // namespace tribo::cli
