/** Uses a value as soon as it is there: at once, unless it is promised. */
export function mapMaybePromise<T, Out>(value: T | Promise<T>, use: (value: T) => Out): Out | Promise<Out> {
  return value instanceof Promise ? value.then(use) : use(value)
}
