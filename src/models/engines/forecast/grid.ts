import { dayMs, daysOf, weekday, yearAndMonth } from '../../numerics/dates.js'

/**
 * The regular times of a series. Times are milliseconds since 1970, or bare whole numbers where a column of those orders the
 * series. A step is so many of them, so many calendar months, or the next day from Monday to Friday.
 */
export type Grid = { unit: 'step' | 'month' | 'business_day'; size: number }

/** Where a series stands on its grid. `day` is the day of the month that its months aim at: 31 is always the last one. */
export type Place = { time: number; day: number }

type Calendar = { month: number; day: number; rest: number }

/** The month since year 0, the day in it and the milliseconds of the day. */
export const calendarOf = (time: number): Calendar => {
  const days = Math.floor(time / dayMs)
  const { year, month } = yearAndMonth(days)
  return { month: year * 12 + month - 1, day: days - daysOf(year, month, 1) + 1, rest: time - days * dayMs }
}

const firstDayOf = (month: number): number => {
  const year = Math.floor(month / 12)
  return daysOf(year, month - year * 12 + 1, 1)
}

/** How many days a month since year 0 has. */
export const daysIn = (month: number): number => firstDayOf(month + 1) - firstDayOf(month)

const timeInMonth = (month: number, day: number, rest: number): number =>
  (firstDayOf(month) + Math.min(day, daysIn(month)) - 1) * dayMs + rest

/** Monday to Friday, counted without the weekends; NaN at a weekend. */
const businessDay = (days: number): number => {
  const place = weekday(days)
  return place > 4 ? NaN : Math.floor((days + 3) / 7) * 5 + place
}

const daysOfBusinessDay = (count: number): number => {
  const week = Math.floor(count / 5)
  return week * 7 - 3 + count - week * 5
}

/**
 * The time that stands so many steps behind a place.
 *
 * @example timeAfter({ unit: 'month', size: 1 }, { time: Date.UTC(1960, 0, 31), day: 31 }, 1) // Date.UTC(1960, 1, 29)
 */
export const timeAfter = ({ unit, size }: Grid, { time, day }: Place, steps: number): number => {
  switch (unit) {
    case 'step':
      return time + steps * size
    case 'month': {
      const { month, rest } = calendarOf(time)
      return timeInMonth(month + steps * size, day, rest)
    }
    case 'business_day': {
      const days = Math.floor(time / dayMs)
      return daysOfBusinessDay(businessDay(days) + steps * size) * dayMs + time - days * dayMs
    }
    default:
      return unit
  }
}

/** How many steps a time stands behind a place; NaN for a time that is not on the grid. */
export const stepsTo = (grid: Grid, place: Place, time: number): number => {
  const steps = nearestSteps(grid, place, time)
  return Number.isInteger(steps) && timeAfter(grid, place, steps) === time ? steps : NaN
}

const nearestSteps = ({ unit, size }: Grid, place: Place, time: number): number => {
  switch (unit) {
    case 'step':
      return (time - place.time) / size
    case 'month':
      return (calendarOf(time).month - calendarOf(place.time).month) / size
    case 'business_day':
      return (businessDay(Math.floor(time / dayMs)) - businessDay(Math.floor(place.time / dayMs))) / size
    default:
      return unit
  }
}
