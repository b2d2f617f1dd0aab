/** The filter and the order of an answer's rows. The address stores them, so that other users see the same. */
export type Arrangement = { filter: string; by: number | undefined; descending: boolean }

/** @example readArrangement(new URLSearchParams('sort=-2')) // { filter: '', by: 1, descending: true } */
export const readArrangement = (query: URLSearchParams): Arrangement => {
  const sort = /^(-?)([1-9]\d{0,4})$/.exec(query.get('sort') ?? '')
  return { filter: query.get('filter') ?? '', by: sort ? Number(sort[2]) - 1 : undefined, descending: sort?.[1] === '-' }
}

/** The sort order as stored in an address: the column from 1, negative for descending order. @example sortText(1, true) // '-2' */
export const sortText = (by: number, descending: boolean): string => `${descending ? '-' : ''}${by + 1}`

/** Removes the filter and the order of an earlier statement's answer. */
export const asItComes = { filter: undefined, sort: undefined } as const
