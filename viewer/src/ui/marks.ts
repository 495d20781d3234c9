// Small drawings of contact states, the same shapes as in the scene, for the legend and the lists.
export function state_mark(state: "open" | "sticks" | "slides"): SVGSVGElement {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 14 14");
  svg.setAttribute("aria-hidden", "true");
  const add = (tag: string, attributes: Record<string, string>) => {
    const e = document.createElementNS(ns, tag);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    svg.append(e);
  };
  if (state === "sticks") add("circle", { cx: "7", cy: "7", r: "4.6", fill: "var(--stick)" });
  else if (state === "slides") add("path", { d: "M1 3.200L13.500 7 1 10.800z", fill: "var(--slide)" });
  else add("circle", { cx: "7", cy: "7", r: "4.400", fill: "none", stroke: "var(--open)", "stroke-width": "1.800" });
  return svg;
}
