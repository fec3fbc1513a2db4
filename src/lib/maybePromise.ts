/** Maps a value, or a promise of one, without waiting if it is not a promise. */
export function mapMaybePromise<T, Out>(value: T | Promise<T>, use: (value: T) => Out): Out | Promise<Out> {
  return value instanceof Promise ? value.then(use) : use(value)
}
