import { randomUUID } from 'node:crypto'
import type { ToolCall } from '../contract/language-model.js'
import { recordIn, textIn } from './members.js'

/** A text of JSON as far as it has arrived. It is read piece by piece, since servers that repeat names send calls in thousands of pieces. */
class Input {
  text = ''
  #depth = 0
  #isQuoted = false
  #isEscaped = false
  #hasBegun = false

  add(piece: string): void {
    this.text += piece
    for (const char of piece)
      if (this.#isEscaped) this.#isEscaped = false
      else if (char === '"') this.#isQuoted = !this.#isQuoted
      else if (this.#isQuoted) this.#isEscaped = char === '\\'
      else if (char === '{' || char === '[') [this.#depth, this.#hasBegun] = [this.#depth + 1, true]
      else if (char === '}' || char === ']') this.#depth -= 1
  }

  /** Whether its object has ended. */
  get isWhole(): boolean {
    return this.#hasBegun && this.#depth === 0
  }
}

/** A call as far as it has arrived. */
type PartialCall = { index: number | undefined; id: string; name: string; readonly input: Input; signature: string | undefined }

const given = (text: string | undefined): string => (text === undefined || text.trim() === '' ? '' : text)

/** Puts calls of tools together from their pieces. Servers differ in what they repeat, and in whether they give an index or an id. */
export class ToolCalls {
  readonly #calls: PartialCall[] = []

  get count(): number {
    return this.#calls.length
  }

  /** Takes one of the `tool_calls` of a chunk. */
  take(piece: unknown): void {
    const sent = recordIn(piece)
    const asked = recordIn(sent?.['function'])
    const index = typeof sent?.['index'] === 'number' ? sent['index'] : undefined
    const [id, name] = [given(textIn(sent?.['id'])), given(textIn(asked?.['name']))]
    const input = textIn(asked?.['arguments']) ?? ''
    const call = this.#find(index, id, name, input) ?? this.#begin(index)
    call.id ||= id
    call.name ||= name
    call.input.add(input)
    call.signature ??= textIn(recordIn(recordIn(sent?.['extra_content'])?.['google'])?.['thought_signature'])
  }

  /** The call that a piece belongs to; undefined if it begins one. */
  #find(index: number | undefined, id: string, name: string, input: string): PartialCall | undefined {
    const sameIndex = index === undefined ? undefined : this.#calls.findLast((call) => call.index === index)
    const sameId = id === '' ? undefined : this.#calls.findLast((call) => call.id === id)
    const call = index === undefined ? (sameId ?? (id === '' && name === '' ? this.#calls.at(-1) : undefined)) : sameIndex
    if (!call || name === '' || call.name === '') return call
    // A call may come whole with the index of the one before it, and with or without an id of its own.
    const isOther = (id !== '' && call.id !== '' && call.id !== id) || call.name !== name || (input !== '' && call.input.isWhole)
    return isOther ? undefined : call
  }

  #begin(index: number | undefined): PartialCall {
    const call: PartialCall = { index, id: '', name: '', input: new Input(), signature: undefined }
    this.#calls.push(call)
    return call
  }

  /** All calls, in the order of their indices. Each has an id of its own. */
  whole(): ToolCall[] {
    const known = new Set<string>()
    const isOrdered = this.#calls.every(({ index }) => index !== undefined)
    const calls = isOrdered ? [...this.#calls].sort((a, b) => (a.index ?? 0) - (b.index ?? 0)) : this.#calls
    return calls.map(({ id: sent, name, input, signature }) => {
      const id = sent === '' || known.has(sent) ? `call_${randomUUID()}` : sent
      known.add(id)
      return { id, tool: name === '' ? 'unknown' : name, input: input.text, ...(signature !== undefined && { signature }) }
    })
  }
}
