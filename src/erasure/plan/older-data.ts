import { stopping } from '../../basics/errors.js'
import type { AgeingKind, Log, Origin } from '../../log/contract/log.js'
import { firstRecordedFrom } from '../../log/read/bisect.js'
import { laterOnAnswers, olderAnswers } from './answers.js'
import { stepBounds, type LaterEvents, type OlderPlace, type StepBounds } from './older-steps.js'
import { emptyPlan, type Plan, type PlannedPayload, type PlanPart } from './plan.js'
import { laterOutcomes, olderRows } from './predictions.js'

const kinds = { rows: { plan: olderRows, later: laterOutcomes }, answers: { plan: olderAnswers, later: laterOnAnswers } } as const

/** New memories of the later events that may be about older data, for each kind of data. */
export const laterEvents = (): Record<AgeingKind, LaterEvents> => ({ rows: laterOutcomes(), answers: laterOnAnswers() })

/** What steps of an erasure by age have taken: the positions of their events, and the numbers of payloads and rows. */
export type Taken = { positions: number[]; payloads: number; rows: number; already: number }

/** The number of rows in payloads. */
export const rowsIn = (payloads: readonly PlannedPayload[]): number => payloads.reduce((sum, { rows }) => sum + rows, 0)

/**
 * The state of an erasure by age before its last step. `bound` is the position of the last older event, `isLeft` says whether the last step
 * takes something, and `rest` plans it.
 */
export type BeforeLast = { taken: Taken; bound: number; isLeft: boolean; rest: () => Promise<PlanPart> }

type How = { subject: string; reason: string | null; dryRun: boolean; origin: Origin }

/** What the steps need. `bounds` are those of one step. */
export type StepOptions = {
  log: Log
  /** Records a plan while nobody else refers to older data. */
  record: (makePlan: () => Promise<Plan>, reason: string | null, origin: Origin) => Promise<{ plan: Plan; positions: number[] }>
  isStopping: () => boolean
  bounds?: StepBounds | undefined
}

/** The end of the log now. */
const endOf = async (log: Pick<Log, 'head'>): Promise<OlderPlace> => ({ at: (await log.head()).position, cut: Infinity })

/**
 * Erases the data of a kind that was recorded after a position and before a time, which is the subject. It does so in steps: none holds all
 * of it in memory, and other work goes on between two of them. The last step is left to the caller, who may take other data with it.
 *
 * @example const { rest } = await takeSteps('rows', { from: 0, later }, { subject: time, reason, dryRun: false, origin }, options)
 * @throws Problem 503 when the service stops meanwhile
 */
export const takeSteps = async (
  what: AgeingKind,
  { from, later = kinds[what].later() }: { from: number; later?: LaterEvents },
  { subject, reason, dryRun, origin }: How,
  { log, record, isStopping, bounds = stepBounds }: StepOptions,
): Promise<BeforeLast> => {
  const head = await endOf(log)
  const bound = Math.max(from, (await firstRecordedFrom(log, subject, head.at)) - 1)
  const plan = kinds[what].plan(log, { from, bound }, later, bounds)
  const taken: Taken = { positions: [], payloads: 0, rows: 0, already: 0 }
  const add = ({ payloads }: Pick<Plan, 'payloads'>, positions: readonly number[]) => {
    taken.positions.push(...positions)
    taken.payloads += payloads.length
    taken.rows += rowsIn(payloads)
  }
  let begin: OlderPlace = { at: from, cut: 0 }
  for (;;) {
    if (isStopping()) throw stopping()
    // Nobody waits for this look, and most of the log may have nothing.
    const step = await plan(begin, await endOf(log))
    const at = begin
    if (step.isLast) return { taken, bound, isLeft: step.payloads.length > 0, rest: async () => plan(at, await endOf(log), true) }
    if (dryRun) add(step, [])
    else if (step.payloads.length > 0) {
      const makePlan = async () => ({ ...emptyPlan('before', subject), payloads: (await plan(at, step.to)).payloads })
      const recorded = await record(makePlan, reason, origin)
      add(recorded.plan, recorded.positions)
    }
    taken.already += step.already
    begin = step.to
  }
}
