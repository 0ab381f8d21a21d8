/** Selects regions in Label Studio's form, for a panel in the same page. */

/** How long Label Studio has to show another annotation. */
const TURNS = 40;
const PAUSE = 100;

/**
 * Select a region in the form, in the annotation that it belongs to.
 *
 * @param {LabelStudioAnnotations | undefined} store
 * @param {number} annotation
 * @param {string} region
 */
export function openRegion(store, annotation, region) {
  const owner = store?.annotations.find(({ pk }) => String(pk) === String(annotation));
  if (!owner) return;
  if (store.selected !== owner) store.selectAnnotation(owner.id);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
    const area = owner.regionStore?.regions.find(({ cleanId, id }) => (cleanId ?? id) === region);
    if (area) owner.selectArea(area);
    if (area || turns > TURNS) clearInterval(timer);
  }, PAUSE);
}
