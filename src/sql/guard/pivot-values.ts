/** Stands as the name of a type behind ON x IN, where a PIVOT lists no values. */
export const pivotValues = 'ledger_pivot_values'
