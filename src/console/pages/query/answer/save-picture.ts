import { saveFile } from '../../../basics/save-file.js'

/** Properties that the chart gets from the page's styles. A saved chart needs them in its own file. */
const carried = ['fill', 'stroke', 'color', 'font-family', 'font-size'] as const

/** Sizes in the saved chart, all in pixels. */
const drawn = (name: string, attributes: Readonly<Record<string, string | number>>, text = ''): SVGElement => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  element.textContent = text
  return element
}

/** The height of a legend line, the size of its coloured square, and the approximate width of a character. */
const [lineHeight, patch, character] = [22, 14, 7.5]

/** A legend of the chart's colours. On the page the legend is outside the SVG. */
const legendOf = (picture: SVGSVGElement, width: number): { elements: SVGElement[]; height: number } => {
  const swatches = [...(picture.closest('figure')?.querySelectorAll<HTMLElement>('.plot-swatch') ?? [])]
  let [x, y] = [8, 6]
  const elements = swatches.flatMap((swatch) => {
    const name = swatch.textContent.trim()
    const taken = patch + 6 + name.length * character + 14
    if (x > 8 && x + taken > width) [x, y] = [8, y + lineHeight]
    const colour = swatch.querySelector('svg')
    const style = getComputedStyle(swatch)
    const font = { 'font-family': style.fontFamily, 'font-size': 12, fill: style.color }
    const both = [
      drawn('rect', { x, y, width: patch, height: patch, fill: colour ? getComputedStyle(colour).fill : 'none' }),
      drawn('text', { x: x + patch + 6, y: y + patch - 3, ...font }, name),
    ]
    x += taken
    return both
  })
  return { elements, height: elements.length === 0 ? 0 : y + lineHeight }
}

type Alone = { text: string; width: number; height: number }

/** The chart as a separate SVG file: with its colours, its legend, its size, and the background of the page. */
const alone = (picture: SVGSVGElement): Alone => {
  const copy = picture.cloneNode(true) as SVGSVGElement
  const originals = [picture, ...picture.querySelectorAll('*')]
  const copies = [copy, ...copy.querySelectorAll('*')]
  for (const [i, element] of copies.entries()) {
    const original = originals[i]
    if (!original) continue
    const style = getComputedStyle(original)
    for (const name of carried) element.setAttribute(name, style.getPropertyValue(name))
    element.removeAttribute('class')
  }
  const { width, height: ownHeight } = picture.getBoundingClientRect()
  const legend = legendOf(picture, width)
  const height = ownHeight + legend.height
  for (const [name, value] of Object.entries({ y: legend.height, width, height: ownHeight })) copy.setAttribute(name, String(value))
  const whole = drawn('svg', { width, height, viewBox: `0 0 ${width} ${height}` })
  const ground = drawn('rect', { width: '100%', height: '100%', fill: getComputedStyle(document.body).backgroundColor })
  whole.append(ground, ...legend.elements, copy)
  return { text: new XMLSerializer().serializeToString(whole), width, height }
}

const blobOf = ({ text }: Alone): Blob => new Blob([text], { type: 'image/svg+xml' })

export const saveSvg = (picture: SVGSVGElement): void => saveFile(blobOf(alone(picture)), 'chart.svg')

/** The saved pixels for each pixel of the screen. */
const scale = 2

/** @throws Error when the browser cannot draw the chart */
export const savePng = async (picture: SVGSVGElement): Promise<void> => {
  const file = alone(picture)
  const { width, height } = file
  const url = URL.createObjectURL(blobOf(file))
  try {
    const image = new Image()
    image.src = url
    await image.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: width * scale, height: height * scale })
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
    if (!blob) throw new Error('The browser could not draw the picture as PNG. Save it as SVG.')
    saveFile(blob, 'chart.png')
  } finally {
    URL.revokeObjectURL(url)
  }
}
