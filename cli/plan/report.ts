// The report of a host: what was decided, its failovers, what the GSLB could change, the contract and the runbook. The model's numbers only.
import {
    type Advice, type Declaration, type EgressPlan, type FailureFailover, type PlannedFailover, type RunbookStep, type TimelineOptions,
    STATISTICS_ANNOTATION, failoverAlert, failureFailover, gslbAdvice, planOf, plannedFailover, runbookOf, statisticsAt, whyNoTimeline,
} from "../../model";

export interface HostReport {
    readonly name: string;
    readonly host: string;
    readonly plan: EgressPlan;
    /** Why there is no timeline; then neither failover is there. */
    readonly withoutTimeline?: string;
    readonly failure?: FailureFailover;
    readonly planned?: PlannedFailover;
    readonly advice: readonly Advice[];
    readonly runbook: readonly RunbookStep[];
    /** What the statistics of the runbook need. */
    readonly statistics: string;
    /** A PrometheusRule. */
    readonly alert?: object;
}

export function hostReport(name: string, declaration: Declaration, options: TimelineOptions): HostReport {
    const withoutTimeline = whyNoTimeline(declaration), failure = failureFailover(declaration, options), planned = plannedFailover(declaration, options), alert = failoverAlert(name, declaration);
    return {
        name, host: declaration.host, plan: planOf(declaration),
        ...(withoutTimeline === undefined ? {} : { withoutTimeline }), ...(failure === undefined ? {} : { failure }), ...(planned === undefined ? {} : { planned }),
        advice: gslbAdvice(declaration, options), runbook: runbookOf(declaration),
        statistics: `The statistics exist where ${statisticsAt(declaration)} carry the annotation ${STATISTICS_ANNOTATION.key}: ${STATISTICS_ANNOTATION.value}, which is read when they start.`,
        ...(alert === undefined ? {} : { alert }),
    };
}
