// The forms of a plan, apart from what makes them: the command line names them before any of it is loaded.
export const PLAN_FORMATS = ["text", "json", "markdown", "mermaid", "svg"] as const;
export type PlanFormat = (typeof PLAN_FORMATS)[number];
