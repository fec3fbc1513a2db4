import { defineMethod } from '../core/method.js'

export const getBadBlocks = defineMethod({
  name: 'debug_getBadBlocks',
  summary: 'No blocks: invalid ones are refused and not kept.',
  description: 'For tools that ask.',
  cost: 'point',
  classes: ['blocks'],
  params: [],
  result: { name: 'blocks', schema: { type: 'array', items: { type: 'object' }, maxItems: 0 } },
  errors: [],
  handler: () => [],
})
