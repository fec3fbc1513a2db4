import type { StreamPosition, StreamQuery } from '../../export/stream/streamQuery.js'
import { madeParam } from '../core/madeParam.js'
import { defineMethod, JsonBytes } from '../core/method.js'
import { encodeSlice } from './sliceMessage.js'

/** Reads a slice of a stream in a reader thread. Clients cannot call it; its result is that of `encodeSlice`. */
export const readSlice = defineMethod({
  name: 'cairn_readSlice',
  summary: 'The next rows of a stream.',
  cost: 'scan',
  classes: ['logs'],
  params: [madeParam<StreamQuery>('query'), madeParam<StreamPosition>('position')],
  result: { name: 'slice', schema: {} },
  errors: [],
  handler: ({ stream, deadline }, query, position) =>
    new JsonBytes(encodeSlice(stream().read(query, position, deadline), position.memory)),
})
