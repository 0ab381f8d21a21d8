/** Where a text is in the task: the region's label, its position, and a piece of the image or of the text. */
import { button, inline, isolated, safe } from "./pieces.js";

const SVG = "http://www.w3.org/2000/svg";

/** Size in px of a picture of a region, and how much of what is around a box it shows, in parts of the box. */
const PICTURE = { inline: 84, block: 56 };
const AROUND = 0.4;

/**
 * The regions of the texts of a card: one picture with every annotator's box, and a button for each region.
 *
 * @param {PanelContext} context
 * @param {PanelTextField} field
 * @param {[PanelId, PanelRegion | null][]} regions by annotator
 * @param {string} id
 * @returns {HTMLElement | null}
 */
export function regionsOf({ h, name, actions }, field, regions, id) {
  const located = regions.filter(([, region]) => region);
  if (!located.length) return null;
  const [, first] = located[0];
  const labels = [...new Set(located.map(([, region]) => region.label).filter(Boolean))];
  const position = first.quote ? "" : first.box ? extent(first.box) : first.where;
  const buttons = located
    .filter(([, region]) => actions.region && region.region && region.annotation)
    .map(([rater, region]) =>
      button(
        h,
        `region-${rater}-${id}`,
        located.length > 1 ? isolated(h, name(rater)) : "Show region",
        () => actions.region(region.annotation, region.region),
        { title: `Selects the region in the annotation of ${inline(name(rater))}` },
      ),
    );
  return h(
    "div",
    { class: "sirr-region" },
    picture(
      h,
      field.shows,
      located.map(([, region]) => region),
    ),
    labels.length ? isolated(h, labels.join(" / ")) : null,
    position ? h("span", { title: first.where }, position) : null,
    first.quote ? h("q", { dir: "auto" }, first.quote) : null,
    buttons.length ? h("span", {}, located.length > 1 ? "Show " : "", buttons) : null,
  );
}

/**
 * The boxes in a piece of the image, where Label Studio serves it; else in the outline of the whole image.
 *
 * @param {PanelBuilder} h
 * @param {{ address: string | null } | undefined} shows
 * @param {PanelRegion[]} regions
 */
function picture(h, shows, regions) {
  const boxes = regions.map(({ box }) => box).filter(Boolean);
  if (!boxes.length) return null;
  const safeAddress = shows?.address ? safe(shows.address) : "";
  const address = safeAddress.startsWith("http") ? safeAddress : null;
  const ratio = regions.find(({ ratio: imageRatio }) => imageRatio)?.ratio ?? 4 / 3;
  const view = address ? areaAround(boxes, ratio) : [0, 0, 100, 100];
  // percents of an image are not square; the picture is as wide as the part that it shows
  const shape = (view[2] * ratio) / view[3];
  const wide = Math.min(PICTURE.inline, PICTURE.block * shape);
  const make = (tag, attributes) => {
    const node = h("span", {}).ownerDocument.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
    return node;
  };
  const svg = make("svg", {
    class: "sirr-picture",
    viewBox: view.join(" "),
    width: Math.round(wide),
    height: Math.round(wide / shape),
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": "Position of the region",
  });
  if (address) {
    svg.append(make("image", { href: address, x: 0, y: 0, width: 100, height: 100, preserveAspectRatio: "none" }));
  }
  for (const [x, y, width, height] of boxes) {
    svg.append(make("rect", { x, y, width, height, "vector-effect": "non-scaling-stroke" }));
  }
  return svg;
}

/**
 * From where to where a box goes, across and down.
 *
 * @param {number[]} box
 */
function extent([left, top, width, height]) {
  return `${Math.round(left)}–${Math.round(left + width)}% × ${Math.round(top)}–${Math.round(top + height)}%`;
}

/**
 * The part of the image with all boxes and some of what is around them.
 *
 * @param {number[][]} boxes
 * @param {number} ratio
 */
function areaAround(boxes, ratio) {
  const minX = Math.min(...boxes.map((box) => box[0]));
  const minY = Math.min(...boxes.map((box) => box[1]));
  const wide = Math.max(...boxes.map((box) => box[0] + box[2])) - minX;
  const high = Math.max(...boxes.map((box) => box[1] + box[3])) - minY;
  const margin = Math.max(2, AROUND * Math.max(wide, high / ratio));
  const [x, y] = [Math.max(0, minX - margin), Math.max(0, minY - margin * ratio)];
  return [x, y, Math.min(100, minX + wide + margin) - x, Math.min(100, minY + high + margin * ratio) - y];
}
