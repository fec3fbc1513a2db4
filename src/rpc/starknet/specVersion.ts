import { defineMethod } from '../core/method.js'

/** The specification that the `starknet_` methods implement. */
const SPEC_VERSION = '0.9.0'

export const specVersion = defineMethod({
  name: 'starknet_specVersion',
  summary: 'Implemented version of the Starknet JSON-RPC specification.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'version', schema: { type: 'string' } },
  errors: [],
  handler: () => SPEC_VERSION,
})
