import type { Param } from './method.js'

/** A parameter of an internal method, which this process made: it is taken as it is. */
export function madeParam<T>(name: string): Param<T> {
  return { name, summary: '', required: true, schema: {}, decode: (value) => value as T }
}
