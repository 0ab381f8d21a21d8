/** The fields of a task that are no text, such as choices and ratings: one line each. */
import { count, isolated, joined, number, openable, written } from "./pieces.js";

/** Annotators of one answer who are named; more are a number. */
const MOST_NAMES = 6;

/**
 * A table of the other fields; null where there are none.
 *
 * @param {PanelContext} context
 */
export function otherFields(context) {
  const { h, payload } = context;
  const fields = payload.other_fields ?? [];
  if (!fields.length) return null;
  const title = payload.controls?.length === 0 ? "Fields" : "Other fields";
  return h(
    "section",
    { class: "sirr-block sirr-others", "aria-label": title },
    h("h2", {}, title),
    h("ul", {}, ...fields.map((field, index) => line(context, field, index))),
  );
}

/**
 * Agreement, what the annotators agree on, and who gave which values.
 *
 * @param {PanelContext} context
 * @param {PanelOtherField} field
 * @param {number} index
 */
function line({ h, name }, field, index) {
  const values = (list) => (list.length ? joined(h, list) : [h("span", { class: "sirr-quiet" }, "nothing chosen")]);
  const agreed = field.agreed
    ? h("span", { class: "sirr-agreed" }, `${field.agreed_by} `, h("strong", {}, ...values(field.agreed)))
    : null;
  const answers = field.values.map((one, at) => {
    const who =
      one.raters.length > MOST_NAMES ? [`${count(one.raters.length)} annotators`] : joined(h, one.raters.map(name));
    const text = one.values.join("; ");
    const words = text ? openable(h, written(h, text), text, `field-${index}-${at}`) : values([]);
    return h("li", {}, ...words, " ", h("span", { class: "sirr-quiet" }, "(", ...who, ")"));
  });
  const score = field.agreement ?? null;
  return h(
    "li",
    { class: "sirr-other", "data-field": field.name, title: field.kind },
    h("span", { class: "sirr-other-name" }, isolated(h, field.name)),
    h("span", { class: "sirr-number" }, score === null ? "–" : number(score)),
    agreed,
    h("ul", { class: "sirr-inline", "aria-label": "Answers" }, ...answers),
  );
}
