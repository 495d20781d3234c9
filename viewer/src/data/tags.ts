// Finds the data that tribo appended to the page.

export interface RunTags {
  run: number;
  world: string;
  frames: { text: string; claimed: number }[];
  end: string | null;
}

export interface Tags {
  runs: RunTags[];
  live: { token: string } | null;
  notes: string[];
}

const run_of = (tag: Element) => {
  const run = Number(tag.getAttribute("data-run") ?? 0);
  return Number.isInteger(run) && run >= 0 ? run : 0;
};

export function read_tags(root: ParentNode): Tags {
  const notes: string[] = [];
  const runs = new Map<number, RunTags>();
  for (const tag of root.querySelectorAll("script.tribo-world")) {
    const run = run_of(tag);
    if (runs.has(run)) notes.push(`the page has more than one world for run ${run}; the first is used`);
    else runs.set(run, { run, world: tag.textContent ?? "", frames: [], end: null });
  }
  let lost = 0;
  for (const tag of root.querySelectorAll("script.tribo-frames")) {
    const claimed = tag.getAttribute("data-frames");
    const owner = runs.get(run_of(tag));
    if (!owner) ++lost;
    else owner.frames.push({ text: tag.textContent ?? "", claimed: claimed === null ? NaN : Number(claimed) });
  }
  if (lost) notes.push(`${lost} chunks of frames belong to a run without a world and are left out`);
  for (const tag of root.querySelectorAll("script.tribo-end")) {
    const owner = runs.get(run_of(tag));
    if (owner) owner.end = tag.textContent ?? "";
  }
  let live: Tags["live"] = null;
  const live_tag = root.querySelector("script.tribo-live");
  if (live_tag) {
    try {
      live = { token: String(JSON.parse(live_tag.textContent ?? "").token ?? "") };
    } catch {
      notes.push("the page is a live view, but its token is not readable; open it again from the address that tribo printed");
    }
  }
  return { runs: [...runs.values()].sort((a, b) => a.run - b.run), live, notes };
}
