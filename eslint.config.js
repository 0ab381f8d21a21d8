/** What `make lint` asks of the JavaScript: the panel and the pages run in browsers as they are. */

import js from "@eslint/js";
import globals from "globals";

const BROWSER = ["plugin/**/*.js", "ml_backend/web/static/*.js", "softirr/report/page/static/*.js"];

export default [
  { ignores: ["site/**", ".venv*/**", "docs/**", "build/**", "dist/**"] },
  js.configs.recommended,
  {
    rules: {
      curly: ["error", "multi-line"],
      eqeqeq: "error",
      "max-len": ["error", { code: 120 }],
      "no-implicit-globals": "error",
      "no-shadow": "error",
      "no-var": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "prefer-const": "error",
    },
  },
  { files: BROWSER, languageOptions: { globals: globals.browser } },
  // Label Studio's name for the form in which its plugins run
  { files: ["plugin/agreement-panel/*.js"], languageOptions: { globals: { LSI: "readonly" } } },
  { files: ["*.js", "tests/**/*.js"], languageOptions: { globals: globals.node } },
];
