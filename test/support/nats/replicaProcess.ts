import { readFileSync } from 'node:fs'
import { deserialize } from 'node:v8'
import { silentLogger } from '../../../src/lib/logger.js'
import { openReplica } from '../../../src/replication/apply/openReplica.js'
import type { PositionedUnit } from '../../../src/replication/codec/types.js'
import { scriptedSource } from './replicated.js'

/* A program that applies units to a database: `node replicaProcess.js DATADIR UNITS`, a file of `v8.serialize`. It says
 * `ready` before it begins, and ends when all are applied and the trie is that of the head. */

const [, , datadir, path] = process.argv
const units = deserialize(readFileSync(path)) as PositionedUnit[]
const stop = new AbortController()
const replica = await openReplica(
  { datadir, trieInterval: 3 },
  {
    log: silentLogger,
    signal: stop.signal,
    openSource: () => scriptedSource(units),
    recovers: () => false,
  },
)
process.stdout.write('ready\n')
const last = units.at(-1)!.position.sequence
const timer = setInterval(() => {
  if (replica.status().sequence === last) stop.abort()
}, 1)
await replica.run()
clearInterval(timer)
await replica.close()
