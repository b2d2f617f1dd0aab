/** The type name behind ON x IN when a PIVOT lists no values; with a number when a query gives the values. */
export const pivotValues = 'ledger_pivot_values'

/** Whether the name of a type is such a name. */
export const isPivotValues = (name: string): boolean => name === pivotValues || /^ledger_pivot_values_[0-9]+$/.test(name)
