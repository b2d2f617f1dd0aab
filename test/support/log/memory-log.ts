import type { Envelope } from '../../../events/stored/envelope.js'
import { instant, renderEnvelope } from '../../../events/stored/envelope.js'
import type { JsonObject } from '../../../events/common.js'
import { currentSchema } from '../../../events/catalogue/catalogue.js'
import type { EventReader, PayloadReader } from '../../../projections/replay.js'
import type { StoredEvent } from '../../../projections/staging.js'

export type Written = { stream: string; type: string; data: JsonObject; schema?: number; request?: string | null }

/** A log in memory for tests: written events get a position, and payloads can be added and removed. */
export class MemoryLog implements EventReader, PayloadReader {
  readonly envelopes: Envelope[] = []
  readonly texts: string[] = []
  readonly payloads = new Map<string, Buffer>()
  readonly #versions = new Map<string, number>()

  append(...events: Written[]): number {
    for (const { stream, type, data, schema, request } of events) {
      const position = this.texts.length + 1
      const version = (this.#versions.get(stream) ?? 0) + 1
      this.#versions.set(stream, version)
      const envelope: Envelope = {
        position,
        stream,
        version,
        type,
        schema: schema ?? currentSchema(type),
        recorded_at: instant(1_750_000_000_000 + position * 1_000, position % 1_000),
        actor: `actor "${position % 3}"`,
        source: 'rest',
        request: request === undefined ? `request-${position}` : request,
        correlation: null,
        causation: null,
        data,
      }
      this.envelopes.push(envelope)
      this.texts.push(renderEnvelope(envelope))
    }
    return this.texts.length
  }

  head(): number {
    return this.texts.length
  }

  read(after: number, limit: number): StoredEvent[] {
    return this.texts.slice(after, after + limit).map((text, i) => ({ position: after + i + 1, text }))
  }

  payload(hash: string): Buffer | undefined {
    return this.payloads.get(hash)
  }
}

/** A stream id that shows its number. */
export const streamOf = (n: number): string => `0190a000-0000-7000-8000-${String(n).padStart(12, '0')}`
