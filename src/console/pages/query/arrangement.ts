/** How the rows of an answer are shown. The address has it, so that a colleague sees the same. */
export type Arrangement = { filter: string; by: number | undefined; descending: boolean }

/** @example readArrangement(new URLSearchParams('sort=-2')) // { filter: '', by: 1, descending: true } */
export const readArrangement = (query: URLSearchParams): Arrangement => {
  const sort = /^(-?)([1-9]\d{0,4})$/.exec(query.get('sort') ?? '')
  return { filter: query.get('filter') ?? '', by: sort ? Number(sort[2]) - 1 : undefined, descending: sort?.[1] === '-' }
}

/** The sort of an address: the column from 1, below 0 from the greatest on. @example sortText(1, true) // '-2' */
export const sortText = (by: number, descending: boolean): string => `${descending ? '-' : ''}${by + 1}`

/** Nothing of what another statement's answer was shown with. */
export const asItComes = { filter: undefined, sort: undefined, dry: undefined, given: undefined } as const
