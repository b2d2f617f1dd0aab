import type { Page } from 'playwright-core'

/** Elements that may scroll horizontally: grids, code, tables in their own scroller, tabs, and text areas. */
const scrollers = '.grid, .scroll, .tabs, .sheets, .plan pre, textarea, .hidden, .skip'

/** This runs in the page. Content that a scroller cuts off can be reached by scrolling; text that ends in an ellipsis is cut on purpose. */
const measure = `(() => {
  const nameOf = (element) => element.tagName.toLowerCase() + [...element.classList].map((one) => '.' + one).join('') + ' ' + (element.textContent ?? '').trim().slice(0, 40)
  const found = []
  const rootWidth = document.documentElement.clientWidth
  for (const element of document.querySelectorAll('body, body *')) {
    if (element.closest('svg') !== null && element.tagName !== 'svg') continue
    if (element.closest(${JSON.stringify(scrollers)}) !== null) {
      const scroller = element.closest(${JSON.stringify(scrollers)})
      if (scroller !== element) continue
    }
    if (!element.checkVisibility({ visibilityProperty: true }) || element.closest('.hidden, .skip') !== null) continue
    const box = element.getBoundingClientRect()
    if (box.width === 0 || box.height === 0) continue
    const style = getComputedStyle(element)
    const cut = element.parentElement?.closest('.clipped, .name-cut') ?? null
    if (cut !== null) continue
    if (box.right > rootWidth + 1 || box.left < -1) found.push('out of the screen, from ' + Math.round(box.left) + ' to ' + Math.round(box.right) + ': ' + nameOf(element))
    const isScroller = element.matches(${JSON.stringify(scrollers)})
    if (!isScroller && style.display !== 'inline' && style.textOverflow !== 'ellipsis' && element.scrollWidth > element.clientWidth + 1 && style.overflowX !== 'visible' && element.clientWidth > 1 && !element.matches('input, select, .clipped'))
      found.push(element.scrollWidth + ' wide where ' + element.clientWidth + ' are seen: ' + nameOf(element))
    if (!element.matches('input, select, textarea, button, .button, svg, img, canvas, pre, table')) continue
    for (let around = element.parentElement; around !== null && around.tagName !== 'MAIN' && around.tagName !== 'BODY'; around = around.parentElement) {
      const outer = getComputedStyle(around)
      if (outer.display === 'inline' || outer.display === 'contents') continue
      if (box.right > around.getBoundingClientRect().right + 1) {
        found.push('out of its ' + nameOf(around).split(' ')[0] + ': ' + nameOf(element))
        break
      }
      if (['absolute', 'fixed'].includes(outer.position)) break
    }
  }
  if (document.documentElement.scrollWidth > rootWidth) found.push('the document is ' + document.documentElement.scrollWidth + ' wide')
  return found
})()`

/**
 * Everything that is too wide, one per line: parts of a page outside the screen, controls outside their box, and elements that scroll
 * horizontally although they should not.
 *
 * @example expect(await tooWideIn(page)).toEqual([])
 */
export const tooWideIn = (page: Page): Promise<string[]> => page.evaluate<string[]>(measure)
