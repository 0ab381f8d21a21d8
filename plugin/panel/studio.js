/** What the panel does in Label Studio’s own form, where it can reach it. */

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
  const owner = store?.annotations.find((one) => String(one.pk) === String(annotation));
  if (!owner) return;
  if (store.selected !== owner) store.selectAnnotation(owner.id);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
    const place = owner.regionStore?.regions.find((one) => (one.cleanId ?? one.id) === region);
    if (place) owner.selectArea(place);
    if (place || turns > TURNS) clearInterval(timer);
  }, PAUSE);
}
