/** A preload for `node --import` that shifts a program's clock by `SHIFT_MS`, forward or back. The machine's uptime does not change. */
const shift = Number(process.env['SHIFT_MS'] ?? 0)
const RealDate = Date

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + shift] : args, newTarget) as object,
  get: (target, name, receiver) => (name === 'now' ? () => RealDate.now() + shift : (Reflect.get(target, name, receiver) as unknown)),
})
