import type { StreamPosition, StreamQuery } from '../../export/stream/streamQuery.js'
import { defineMethod, JsonBytes, type Param } from '../core/method.js'
import { encodeSlice } from './sliceMessage.js'

/** A parameter that this process made. */
function made<T>(name: string): Param<T> {
  return { name, summary: '', required: true, schema: {}, decode: (value) => value as T }
}

/** Reads a slice of a stream in a reader thread. Clients cannot call it; its result is that of `encodeSlice`. */
export const readSlice = defineMethod({
  name: 'cairn_readSlice',
  summary: 'The next rows of a stream.',
  cost: 'scan',
  classes: ['logs'],
  params: [made<StreamQuery>('query'), made<StreamPosition>('position')],
  result: { name: 'slice', schema: {} },
  errors: [],
  handler: ({ stream, deadline }, query, position) =>
    new JsonBytes(encodeSlice(stream().read(query, position, deadline))),
})
