import type { Json, JsonObject } from '../../../events/common.js'
import { limits } from '../../basics/limits.js'
import type { Thoughts } from '../contract/language-model.js'
import { listIn, recordIn, textIn } from './members.js'

/** The texts of a detail that come in pieces. */
const texts = ['text', 'summary']

/** Adds a piece to the detail that it goes on; false if it is a detail of its own. */
const goesOn = (detail: JsonObject, piece: JsonObject): boolean => {
  const name = texts.find((text) => typeof piece[text] === 'string')
  if (name === undefined || detail['type'] !== piece['type'] || detail['index'] !== piece['index']) return false
  const before = textIn(detail[name]) ?? ''
  for (const [member, value] of Object.entries(piece)) detail[member] ??= value
  detail[name] = before + (textIn(piece[name]) ?? '')
  return true
}

/** Puts together what a model thought, from the pieces of its chunks. Of thoughts that are too long, nothing is kept. */
export class ThoughtPieces {
  #content: string | undefined
  readonly #details: JsonObject[] = []
  #chars = 0

  /** Takes the delta of a chunk. */
  take(delta: Record<string, unknown>): void {
    const content = textIn(delta['reasoning_content'])
    const details = listIn(delta['reasoning_details']).map(recordIn)
    if (content === undefined && details.length === 0) return
    this.#chars += (content ?? '').length + (details.length === 0 ? 0 : JSON.stringify(details).length)
    if (this.#chars > limits.llmThoughtsMaxChars) return
    if (content !== undefined) this.#content = (this.#content ?? '') + content
    for (const detail of details) if (detail) this.#takeDetail(detail as Record<string, Json>)
  }

  #takeDetail(piece: JsonObject): void {
    const last = this.#details.at(-1)
    if (!last || !goesOn(last, piece)) this.#details.push({ ...piece })
  }

  /** All thoughts, with the members that were sent; undefined if there are none. */
  whole(): Thoughts | undefined {
    const [content, details] = [this.#content, this.#details]
    if (this.#chars > limits.llmThoughtsMaxChars || (content === undefined && details.length === 0)) return undefined
    return {
      ...(content !== undefined && { reasoning_content: content }),
      ...(details.length > 0 && { reasoning_details: details }),
    }
  }
}
