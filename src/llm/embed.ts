import type { EmbeddingModelV3 } from '@ai-sdk/provider'
import { limits } from '../basics/limits.js'
import { inParts } from '../basics/limits/in-parts.js'
import type { EmbeddingModel } from './contract/language-model.js'
import { askAgain, Stop, type ExchangeLimits } from './exchange.js'
import { llmFailed, notUnderstood, type Exchange } from './failures.js'
import { countIn, listIn, recordIn } from './openai/members.js'
import type { HostSlots } from './host-slots.js'

export type EmbeddingParts = {
  exchange: Exchange
  model: () => Promise<EmbeddingModelV3>
  dimensions: number | undefined
  slots: HostSlots
  most: ExchangeLimits
}

/** The texts that fit into one request. */
const oneRequest = { maxItems: limits.embeddingBatchMaxTexts, maxSize: limits.embeddingBatchMaxChars }

/** The place of each vector, where the answer says it: the specification of OpenAI has an index, and promises no order. */
const placesIn = (body: unknown, length: number): number[] => {
  const said = listIn(recordIn(body)?.['data']).map((one) => recordIn(one)?.['index'])
  const isOrder =
    said.length === length &&
    new Set(said).size === length &&
    said.every((at) => Number.isInteger(at) && Number(at) >= 0 && Number(at) < length)
  return isOrder ? said.map(Number) : Array.from({ length }, (_, at) => at)
}

const wrongVectors = ({ host }: Exchange, what: string) =>
  llmFailed('Not understood', `${host} answers ${what}`, 'Check that the model is an embedder, and take another one.')

/** A vector of numbers that 32 bits can hold. */
const vectorOf = (numbers: readonly number[], exchange: Exchange): Float32Array => {
  const vector = Float32Array.from(numbers)
  if (vector.length === 0 || vector.length > limits.embeddingMaxDimensions)
    throw wrongVectors(exchange, `a vector of ${vector.length} numbers (at most ${limits.embeddingMaxDimensions} are taken)`)
  if (!vector.every(Number.isFinite)) throw wrongVectors(exchange, 'a vector with a number that is not finite')
  return vector
}

/** Turns texts into vectors, in batches one after the other. */
export const embedWith =
  ({ exchange, model, dimensions, slots, most }: EmbeddingParts): EmbeddingModel['embed'] =>
  async (texts, { signal, onUsed, onSent }) => {
    const vectors: Float32Array[] = []
    const asked = dimensions === undefined ? {} : { providerOptions: { openaiCompatible: { dimensions } } }
    for (const batch of inParts(texts, (text) => text.length, oneRequest)) {
      const leave = await slots.take(exchange.host, signal)
      const stop = new Stop(signal, most, exchange)
      try {
        const ask = async () => (await model()).doEmbed({ values: batch, abortSignal: stop.signal, ...asked })
        const { embeddings, usage, response } = await askAgain({ ask, learns: () => false, exchange, stop, most, onSent })
        // Some servers say 0 for what they do not count.
        const input = countIn(usage?.tokens) || null
        if (input !== null) onUsed?.({ input, output: null })
        if (embeddings.length !== batch.length) throw wrongVectors(exchange, `${embeddings.length} vectors for ${batch.length} texts`)
        const found: Float32Array[] = []
        placesIn(response?.body, batch.length).forEach((at, given) => {
          const numbers = embeddings[given]
          if (!numbers) throw notUnderstood(exchange)
          found[at] = vectorOf(numbers, exchange)
        })
        vectors.push(...found)
      } finally {
        stop.end()
        leave()
      }
    }
    const sizes = new Set(vectors.map(({ length }) => length))
    if (sizes.size > 1) throw wrongVectors(exchange, `vectors of different lengths (${[...sizes].join(', ')})`)
    return vectors
  }
