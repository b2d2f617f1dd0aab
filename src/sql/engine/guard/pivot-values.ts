/** Stands as the name of a type behind ON x IN, where a PIVOT lists no values; with a number, where a query gives them. */
export const pivotValues = 'ledger_pivot_values'

/** Whether the name of a type is one of these. */
export const isPivotValues = (name: string): boolean => name === pivotValues || /^ledger_pivot_values_[0-9]+$/.test(name)
