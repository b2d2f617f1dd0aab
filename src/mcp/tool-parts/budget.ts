import { limits } from '../../basics/limits.js'
import { ByteBudget } from '../../basics/limits/byte-budget.js'

/**
 * The size budget of one answer of a tool.
 *
 * @example const budget = new Budget(); const shown = items.filter((item) => budget.takes(item))
 */
export class Budget extends ByteBudget {
  constructor(bytes: number = limits.mcpAnswerMaxBytes) {
    super(bytes)
  }
}
