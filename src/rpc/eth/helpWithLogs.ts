import type { SharedWork } from '../../index/logs/sharedBatches.js'
import { madeParam } from '../core/madeParam.js'
import { defineMethod } from '../core/method.js'

/** Writes logs of a query that runs in another reader thread, into memory that both share. Clients cannot call it. */
export const helpWithLogs = defineMethod({
  name: 'cairn_helpWithLogs',
  summary: 'Logs of a query of another thread.',
  cost: 'scan',
  classes: ['logs'],
  params: [madeParam<SharedWork>('work')],
  result: { name: 'nothing', schema: { type: 'null' } },
  errors: [],
  handler: ({ logs, deadline }, work) => {
    logs.help(work, { deadline })
    return null
  },
})
