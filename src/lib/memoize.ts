/** Memoizes a function. Keeps all values: use it for few keys. */
export function memoize<V>(make: (key: string) => V): (key: string) => V {
  const known = new Map<string, V>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) {
      value = make(key)
      known.set(key, value)
    }
    return value
  }
}
