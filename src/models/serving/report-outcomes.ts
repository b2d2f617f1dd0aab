import type { OutcomeRow, OutcomesReported } from '../../../events/records/predictions.js'
import type { StreamId } from '../../../events/common.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import type { Execution, Ledger } from '../../commands/ledger.js'
import type { ErasureGuard, Log, Resource, Origin, Outcome } from '../../log/contract/log.js'
import type { ModelStore } from './model-store.js'
import { trainedAs } from './prediction-provenance.js'
import { PredictedRows, type PredictedRow } from './predicted-rows.js'
import { positionsOf, predictionsAt, type PredictionEvent, type ReadRows } from './prediction-events.js'
import { Truths } from './truth.js'

/** A reported truth of a row. The position of the prediction or the id of its request identifies it. */
export type ReportedOutcome = {
  position?: number | undefined
  request?: string | undefined
  row?: number | undefined
  truth: string | number | boolean
}

/** A report of outcomes. `version` is only present if the request has one. */
export type Report = {
  model: Resource<'model'>
  version: number | undefined
  outcomes: readonly ReportedOutcome[]
  /** The client that sent it. */
  client: string
  origin: Origin
} & Pick<Execution, 'idempotency' | 'dryRun'>

type Options = {
  ledger: Ledger
  log: Log
  store: ModelStore
  /** Runs work during which no recorded rows are erased. */
  beside: ErasureGuard
  readRows: ReadRows
}

const labelOf = (index: number) => `Outcome ${index}`

/** @throws Problem when a report has too many outcomes */
export const refuseTooManyOutcomes = (count: number): void => {
  if (count > limits.outcomesMaxRows)
    throw wrong(`${count} outcomes; a report takes at most ${limits.outcomesMaxRows}`, 'Send them in several requests.')
}

/**
 * Records the true outcomes of predicted rows, all of a report or none. Each is checked against its prediction; a later report of a row
 * replaces an earlier one.
 *
 * @example await reporter.report({ model, version: undefined, outcomes: [{ position: 812, row: 0, truth: 2900 }], client, origin })
 */
export class OutcomeReporter {
  constructor(private readonly options: Options) {}

  /** @throws Problem that names the first outcome that does not fit */
  async report(report: Report): Promise<Outcome> {
    const { length } = report.outcomes
    if (length === 0) throw wrong('outcomes: the list is empty', 'Send [{"position": …, "row": 0, "truth": …}].')
    refuseTooManyOutcomes(length)
    const places = await this.#placesOf(report)
    // If rows were erased during the check of a report, their truths would remain.
    return this.options.beside(report.origin, async (origin) => this.#record({ ...report, origin }, await this.#checked(report, places)))
  }

  /** The positions of the predictions that a report names by their requests alone. */
  #placesOf({ model, outcomes, client }: Report): Promise<Map<string, number>> {
    const searched = outcomes.flatMap(({ position, request }) => (position === undefined && request !== undefined ? [request] : []))
    return positionsOf(this.options.readRows, { model: model.stream, client, requests: new Set(searched) })
  }

  #record(
    { model: { stream, state }, origin, idempotency, dryRun }: Report,
    { rows, truths }: { rows: PredictedRow[]; truths: OutcomeRow[] },
  ): Promise<Outcome> {
    const { ledger } = this.options
    const payload = ledger.vault.seal(Buffer.from(JSON.stringify(truths)))
    const data = { model: stream, name: state.name, predictions: placesOf(rows), payload: payload.hash }
    return ledger.execute({ type: 'ReportOutcomes', data }, origin, {
      payloads: [payload],
      ...(idempotency && { idempotency }),
      ...(dryRun && { dryRun }),
    })
  }

  /** The rows of a report and their truths, both in the order of the event. */
  async #checked(report: Report, places: ReadonlyMap<string, number>): Promise<{ rows: PredictedRow[]; truths: OutcomeRow[] }> {
    const { log } = this.options
    const served = await this.#served(report, places)
    refuseTooManyRows(served)
    const truthsOf = new Map<number, Truths>()
    const checked: CheckedOutcome[] = []
    let refused: { index: number; error: unknown } | undefined
    // Only the rows of one event are in memory at a time, and each event is read once. The refusal names the first outcome that does not
    // fit.
    for (const indexes of indexesByEvent(served)) {
      let at = indexes[0] ?? 0
      if (refused && at > refused.index) break
      try {
        const event = served[at]!
        const rows = await PredictedRows.of(log, event, labelOf(at))
        const truths = truthsOf.get(event.version) ?? (await this.#truths(report.model.stream, event.version, labelOf(at)))
        truthsOf.set(event.version, truths)
        const seen = new Map<string, number>()
        const work = new LongWork({ goesOn: true })
        for (at of indexes) {
          if (refused && at > refused.index) break
          await work.pause()
          checked[at] = await checkedOutcome(report.outcomes[at]!, labelOf(at), { rows, truths })
          refuseTwin(seen, checked[at]!, at)
        }
      } catch (error) {
        refused = { index: at, error }
      }
    }
    if (refused) throw refused.error
    const inOrder = grouped(checked)
    return { rows: inOrder.map(({ row }) => row), truths: inOrder.map(({ truth }) => truth) }
  }

  /** The event that holds each outcome's prediction. `places` has the positions for the requests that stand alone. */
  async #served({ model, version, outcomes }: Report, places: ReadonlyMap<string, number>): Promise<PredictionEvent[]> {
    const { log } = this.options
    const events = new Map<number, PredictionEvent | undefined>()
    const found: PredictionEvent[] = []
    const work = new LongWork()
    for (const [index, { position, request }] of outcomes.entries()) {
      await work.pause()
      if (position === undefined && request === undefined)
        throw wrong(`${labelOf(index)}: says neither "position" nor "request"`, 'Name the prediction: log.predictions has both.')
      const at = position ?? places.get(request ?? '')
      if (at !== undefined && !events.has(at)) events.set(at, await predictionsAt(log, at))
      const event = at === undefined ? undefined : events.get(at)
      found.push(
        belonging(event, { model, version }, labelOf(index), position === undefined ? `request ${request}` : `position ${position}`),
      )
    }
    return found
  }

  async #truths(model: StreamId, version: number, label: string): Promise<Truths> {
    const trained = await trainedAs(this.options.log, model, version)
    if (!trained) throw new TypeError(`${label}: version ${version} answered and was never trained`)
    return new Truths(this.options.store, trained)
  }
}

/** An outcome that fits its prediction. */
type CheckedOutcome = { row: PredictedRow; truth: OutcomeRow }

const checkedOutcome = async (
  { request, row: asked, truth }: ReportedOutcome,
  label: string,
  { rows, truths }: { rows: PredictedRows; truths: Truths },
): Promise<CheckedOutcome> => {
  const row = await rows.one(request, asked, label)
  const read = truths.read(truth, label)
  const { position, request: of, row: place } = row
  return { row, truth: { position, request: of, row: place, truth: read, probability: await truths.probability(row, read) } }
}

const refuseTwin = (seen: Map<string, number>, { row: { request, row } }: CheckedOutcome, index: number): void => {
  const key = JSON.stringify([request, row])
  const twin = seen.get(key)
  if (twin !== undefined) throw wrong(`${labelOf(index)}: is about the same row as outcome ${twin}`, 'Send one truth for each row.')
  seen.set(key, index)
}

/** The places of the outcomes in a report, by the event with their predictions, in the order of their first outcomes. */
const indexesByEvent = (served: readonly PredictionEvent[]): number[][] => {
  const indexes = new Map<number, number[]>()
  for (const [index, { position }] of served.entries()) {
    const ofEvent = indexes.get(position)
    if (ofEvent) ofEvent.push(index)
    else indexes.set(position, [index])
  }
  return [...indexes.values()]
}

/** All rows of an event are read to find one row. @throws Problem when this takes too many rows */
const refuseTooManyRows = (served: readonly PredictionEvent[]): void => {
  let rows = 0
  for (const event of new Map(served.map((one) => [one.position, one])).values()) rows += event.rows
  if (rows > limits.outcomesMaxRowsRead)
    throw wrong(
      `the outcomes are of events with ${rows} predictions; a report reads at most ${limits.outcomesMaxRowsRead}`,
      'Send them in several requests, those of one position together.',
    )
}

/** @throws Problem if the predictions do not exist, or belong to another model or version */
const belonging = (
  event: PredictionEvent | undefined,
  { model, version }: Pick<Report, 'model' | 'version'>,
  label: string,
  place: string,
): PredictionEvent => {
  const { name } = model.state
  const hint = `SELECT position, request, row FROM log.predictions WHERE model = '${name.replaceAll("'", "''")}' lists what there is.`
  if (event?.model !== model.stream)
    throw new Problem('not_found', 'Prediction not found', `${label}: model ${name} predicted nothing at ${place}`, { hint })
  if (version !== undefined && event.version !== version)
    throw new Problem('not_found', 'Prediction not found', `${label}: ${place} was predicted by version ${event.version}, not ${version}`, {
      hint: `Leave the version out of the path, or send it to ${name}.${event.version}.`,
    })
  return event
}

const groupOf = ({ position, request }: PredictedRow): string => `${position} ${request}`

/** Groups rows by request, in the order in which the requests first appear. */
const grouped = (items: readonly CheckedOutcome[]): CheckedOutcome[] => {
  const groups = new Map<string, CheckedOutcome[]>()
  for (const item of items) {
    const group = groups.get(groupOf(item.row))
    if (group) group.push(item)
    else groups.set(groupOf(item.row), [item])
  }
  return [...groups.values()].flat()
}

const placesOf = (rows: readonly PredictedRow[]): OutcomesReported['predictions'] => {
  const places = new Map<string, OutcomesReported['predictions'][number]>()
  for (const row of rows) {
    const place = places.get(groupOf(row)) ?? { position: row.position, version: row.version, request: row.request, rows: [] }
    place.rows.push(row.row)
    places.set(groupOf(row), place)
  }
  return [...places.values()]
}
