/** Properties that the page's style gives to a picture, and that it must carry along when it leaves the page. */
const carried = ['fill', 'stroke', 'color', 'font-family', 'font-size'] as const

/** The picture as a file of its own: with its colours, its size, and the ground of the page. */
const alone = (picture: SVGSVGElement): string => {
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
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  for (const [name, value] of [
    ['width', '100%'],
    ['height', '100%'],
    ['fill', getComputedStyle(document.body).backgroundColor],
  ] as const)
    ground.setAttribute(name, value)
  copy.prepend(ground)
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  return new XMLSerializer().serializeToString(copy)
}

const give = (blob: Blob, name: string): void => {
  const url = URL.createObjectURL(blob)
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

const svgOf = (picture: SVGSVGElement): Blob => new Blob([alone(picture)], { type: 'image/svg+xml' })

export const saveSvg = (picture: SVGSVGElement): void => give(svgOf(picture), 'chart.svg')

/** Dots of the file for each of the screen. */
const scale = 2

/** @throws Error when the browser cannot draw it */
export const savePng = async (picture: SVGSVGElement): Promise<void> => {
  const { width, height } = picture.getBoundingClientRect()
  const url = URL.createObjectURL(svgOf(picture))
  try {
    const image = new Image()
    image.src = url
    await image.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: width * scale, height: height * scale })
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
    if (!blob) throw new Error('The browser could not draw the picture as PNG. Save it as SVG.')
    give(blob, 'chart.png')
  } finally {
    URL.revokeObjectURL(url)
  }
}
