import { defineMethod } from '../core/method.js'

/** The interface version that Otterscan requests (otterscan/otterscan, useProvider.ts). */
const API_LEVEL = 8

export const getApiLevel = defineMethod({
  name: 'ots_getApiLevel',
  summary: 'Version of the Otterscan interface: 8.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'level', schema: { type: 'integer' } },
  errors: [],
  handler: () => API_LEVEL,
})
