import { isObject, type Json } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'
import { isNestedDeeper } from '../../basics/json-text.js'
import { limits } from '../../basics/limits.js'
import type { ToolUse } from '../contract/answer-record.js'
import { rowsOf } from '../contract/answering.js'
import type { Tool, ToolResult } from './tool.js'

/** A failure whose text goes to the language model unchanged. */
export class VerbatimFailure extends Problem {
  constructor(detail: string) {
    super('wrong_arguments', 'It failed', detail)
  }
}

/** The record has no more outputs: its answer ended here. */
export class RecordEnd extends Error {
  constructor(readonly ending: Error) {
    super('the record has ended')
  }
}

const keyOf = (tool: string, input: Json): string => `${tool} ${JSON.stringify(input)}`

const inputOf = (text: string): Json | undefined => {
  try {
    return text.trim() === '' ? {} : (JSON.parse(text) as Json)
  } catch {
    return undefined
  }
}

const fenced = /^(?:It failed\.\n)?<(data-[0-9a-f]+) [^>\n]*>\n([^]*)\n<\/\1>$/

/** The mark around data in an earlier answer; undefined if that answer used no tools. */
export const markIn = (uses: readonly ToolUse[]): string | undefined =>
  uses.map(({ output }) => fenced.exec(output)?.[1]).find((mark) => mark !== undefined)

const textIn = (output: string): string => fenced.exec(output)?.[2] ?? output

/** The outputs of an answer's tools, without the marks and without failures. */
export const outputsOf = (uses: readonly ToolUse[]): string[] => uses.filter(({ failed }) => !failed).map(({ output }) => textIn(output))

/** The outputs of tools for an earlier answer, by tool and input. The same input may have failed before it succeeded. */
export class RecordedUses {
  readonly #byKey = new Map<string, { uses: ToolUse[]; next: number }>()

  constructor(uses: readonly ToolUse[]) {
    for (const use of uses) {
      const input = inputOf(use.call.input)
      // An input that is no object, or nested too deeply, never reached a tool.
      if (!isObject(input) || isNestedDeeper(input, limits.jsonMaxDepth)) continue
      const key = keyOf(use.call.tool, input)
      const known = this.#byKey.get(key)
      if (known) known.uses.push(use)
      else this.#byKey.set(key, { uses: [use], next: 0 })
    }
  }

  /** The next recorded use; undefined if there is none left. With `repeats`, the last one comes again instead. */
  take(tool: string, input: Json, { repeats }: { repeats: boolean }): ToolUse | undefined {
    const known = this.#byKey.get(keyOf(tool, input))
    if (!known) return undefined
    const use = known.uses[known.next]
    known.next += 1
    return use ?? (repeats ? known.uses.at(-1) : undefined)
  }
}

/** The output of a recorded use. @throws VerbatimFailure if it failed */
export const givenBy = (use: ToolUse): ToolResult => {
  const text = textIn(use.output)
  if (use.failed) throw new VerbatimFailure(text)
  const query = rowsOf(use)
  return { output: text, rows: query ? query.rows.length : null, ...(query && { query }) }
}

const notRecorded =
  'This was not asked for the recorded answer, so that no result of it is on record, and nothing is run now. Answer with what was recorded, or say that you have no answer.'

/**
 * A tool that returns its recorded outputs, for which no model is asked again. A new input runs only if `runsOthers` is set; else the
 * language model gets a text that says so.
 */
export const replayedTool = (tool: Tool, uses: RecordedUses, runsOthers: boolean): Tool => ({
  ...tool,
  async use(input, signal, models) {
    const known = uses.take(tool.description.name, input, { repeats: true })
    if (known) return givenBy(known)
    if (runsOthers) return tool.use(input, signal, models)
    throw new VerbatimFailure(notRecorded)
  },
})
