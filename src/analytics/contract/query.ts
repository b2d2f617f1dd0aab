import type { TablesState, TablesStatus } from '../../sql/relations/projections.js'
import type { Frame, Scored, SelectRequest } from '../../sql/contract/select.js'

export type { Frame, Scored, SelectRequest, TablesState, TablesStatus }

export type Column = { name: string; type: string }

/** What a query did: the rows it gave, and the model versions that scored for it. */
export type QueryEnd = { rows: number; scored: Scored[] }

/** An answer as the server's other parts read it. `rows` has to be read to its end or returned; `end` is there after that. */
export type QueryStream = {
  columns: Column[]
  served?: unknown
  scored?: Scored[]
  rows: AsyncGenerator<Buffer, void, void>
  end: () => QueryEnd
}
