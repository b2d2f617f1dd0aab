import { dayMs, daysOf, weekday, yearAndMonth } from '../../numerics/dates.js'

/**
 * The regular times of a series. Times are milliseconds since 1970, or plain integers if an integer column orders the series. A step is a
 * number of these units, a number of calendar months, or the next day from Monday to Friday.
 */
export type Grid = { unit: 'step' | 'month' | 'business_day'; size: number }

/** The position of a series on its grid. `day` is the usual day of the month: 31 always means the last day. */
export type Place = { time: number; day: number }

type Calendar = { month: number; day: number; rest: number }

/** The month since year 0, the day of the month and the milliseconds of the day. */
export const calendarOf = (time: number): Calendar => {
  const days = Math.floor(time / dayMs)
  const { year, month } = yearAndMonth(days)
  return { month: year * 12 + month - 1, day: days - daysOf(year, month, 1) + 1, rest: time - days * dayMs }
}

const firstDayOf = (month: number): number => {
  const year = Math.floor(month / 12)
  return daysOf(year, month - year * 12 + 1, 1)
}

/** The number of days in a month since year 0. */
export const daysIn = (month: number): number => firstDayOf(month + 1) - firstDayOf(month)

const timeInMonth = (month: number, day: number, rest: number): number =>
  (firstDayOf(month) + Math.min(day, daysIn(month)) - 1) * dayMs + rest

/** A count of days that skips weekends; NaN on a weekend. */
const businessDay = (days: number): number => {
  const place = weekday(days)
  return place > 4 ? NaN : Math.floor((days + 3) / 7) * 5 + place
}

const daysOfBusinessDay = (count: number): number => {
  const week = Math.floor(count / 5)
  return week * 7 - 3 + count - week * 5
}

/**
 * The time a number of steps after a place.
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

/** The number of steps from a place to a time; NaN for a time that is not on the grid. */
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
