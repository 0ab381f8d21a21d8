/**
 * The agreed answer that the reviewer is putting together: the suggestion until they change it.
 *
 * A text field has a list of texts, or null while nothing is chosen; another field has the values of one answer.
 */

/**
 * @param {() => void} changed called after each change
 */
export function makeChoice(changed) {
  /** @type {PanelPayload | null} */
  let payload = null;
  /** @type {Record<string, string[] | null>} */
  let changedFields = {};
  let task = "";

  const initial = (field) => {
    const agreed = payload.agreed?.fields?.[field.name];
    if (agreed) return [...agreed];
    if (field.suggestion?.length) return [...field.suggestion];
    const isEmpty = field.kind === "text" && !field.cards.length;
    return isEmpty ? [] : null;
  };
  const fieldOf = (name) => payload?.fields?.find((field) => field.name === name);
  const current = (name) => {
    if (name in changedFields) return changedFields[name];
    const field = fieldOf(name);
    return field ? initial(field) : null;
  };
  const set = (name, texts) => {
    changedFields[name] = texts;
    changed();
  };

  return {
    /** @param {PanelPayload} next */
    follow(next) {
      const nextTask = `${next.project?.id}/${next.task?.id}`;
      if (nextTask !== task) [changedFields, task] = [{}, nextTask];
      payload = next;
    },
    forget: () => {
      changedFields = {};
    },
    isChanged: () => Object.keys(changedFields).length > 0,
    /** @param {string} name */
    texts: (name) => current(name) ?? [],
    /** @param {string} name */
    isEmpty: (name) => current(name)?.length === 0,
    /** @param {string} name @param {string} text */
    toggle(name, text) {
      const texts = current(name) ?? [];
      const without = texts.filter((present) => present !== text);
      set(name, without.length < texts.length ? (without.length ? without : null) : [...texts, text]);
    },
    /** @param {string} name @param {string[] | null} texts */
    take: (name, texts) => set(name, texts),
    /** What is accepted, or null while a text field has no answer. */
    fields() {
      /** @type {Record<string, string[]>} */
      const fields = {};
      for (const field of payload?.fields ?? []) {
        const texts = current(field.name);
        if (texts) fields[field.name] = texts;
        else if (field.kind === "text") return null;
      }
      return Object.keys(fields).length ? fields : null;
    },
  };
}
