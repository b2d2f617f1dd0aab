import { z } from 'zod'

/*
 * What stands in the query string, for the OpenAPI document. Routes read it themselves, with errors that say what to do.
 */

// Without its closing bracket: months add their last days.
const day = '(?:0[1-9]|[12]\\d'
const date = `\\d{4}-(?:(?:0[13578]|1[02])-${day}|3[01])|(?:0[469]|11)-${day}|30)|02-${day}))`
const clock = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,6})?'
const zone = '(?:Z|[+-](?:(?:0\\d|1[0-3]):[0-5]\\d|14:00))?'
const time = `${date}[T ]${clock}${zone}`

/** Numbers of more than 15 digits are not read: so far they are exact everywhere. */
const most = 999_999_999_999_999

/** A whole number, such as a position or a version. */
export const count = z.int().min(0).max(most)

/** How many items a page has, at most. */
export const pageSize = (most: number) => z.int().min(1).max(most)

/** A time as events are found by it. */
export const timeText = z.string().regex(new RegExp(`^${time}$`))

/** A position of the log or a time. */
export const whenText = z.string().regex(new RegExp(`^(?:[1-9]\\d{0,14}|${time})$`))
