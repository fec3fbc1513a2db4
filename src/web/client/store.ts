import { useEffect, useState } from 'preact/hooks'

/** A value that views observe. */
interface Store<T> {
  get(): T
  set(value: T): void
  /** Calls `listener` after each change. @returns a function that unsubscribes */
  watch(listener: () => void): () => void
}

/** Creates a store with an initial value. Setting an identical value notifies no listener. */
export function createStore<T>(first: T): Store<T> {
  const listeners = new Set<() => void>()
  let value = first
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Returns the value of a store and rerenders the component when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get())
  useEffect(() => {
    const read = () => setValue(() => store.get())
    read()
    return store.watch(read)
  }, [store])
  return value
}
