import type { Value } from '../../api/sql.js'

/** An event as it is in the log. */
export type LogEvent = {
  position: number
  stream: string
  version: number
  type: string
  recorded_at: string
  actor: string
  source: string
  request: string | null
  causation: string | null
  data: Value
}
