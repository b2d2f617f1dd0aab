/** Loaded before a program (`node --import`), this sets its clock `SHIFT_MS` ahead, or back. How long the machine is up stays. */
const shift = Number(process.env['SHIFT_MS'] ?? 0)
const RealDate = Date

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + shift] : args, newTarget) as object,
  get: (target, name, receiver) => (name === 'now' ? () => RealDate.now() + shift : (Reflect.get(target, name, receiver) as unknown)),
})
