import type { ColumnType } from '../../data/values.js'
import type { ForecastModel } from './artefact.js'
import { timeAfter } from './grid.js'
import type { KeyValue } from './panel.js'
import { cellOfTime, type OrderType } from './times.js'

/** The rows that a series model can forecast: the next `horizon` after the last row of each series. */
export class FutureRows {
  /** The time column and the key columns, under the model's names. */
  readonly order: { name: string; type: OrderType }
  readonly keys: readonly { name: string; type: ColumnType }[]

  constructor(private readonly model: ForecastModel) {
    this.order = model.order
    this.keys = model.keys.map(({ name, type }) => ({ name, type }))
  }

  /**
   * The rows in order: the time as a cell (days or milliseconds since 1970, or a whole number), and the keys' values.
   *
   * @example for (const { cell, keys } of future.each()) append(new Date(cell * 86_400_000), ...keys)
   */
  *each(): Generator<{ cell: number; keys: readonly KeyValue[] }> {
    const { last, codes, keys, grid, day, horizon, order } = this.model
    for (let series = 0; series < last.length; series++) {
      const values = keys.map((key, i) => key.values[codes[series * keys.length + i]!] ?? null)
      const place = { time: last[series]!, day }
      for (let step = 1; step <= horizon; step++) yield { cell: cellOfTime(order.type, timeAfter(grid, place, step)), keys: values }
    }
  }
}
