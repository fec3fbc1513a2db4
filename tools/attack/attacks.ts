import type { Attack } from './attack.js'
import { idleConnections, slowRequests, unfinishedBodies } from './attacks/bodies.js'
import { hostileJson, manyBatches } from './attacks/bodiesOfJson.js'
import { endlessBatches, endlessClients, endlessEstimates, memoryBombs } from './attacks/calls.js'
import { forgedSnapshots, fullDisk } from './attacks/files.js'
import { fuzzedBytes, fuzzedParameters } from './attacks/fuzz.js'
import { guessedKeys } from './attacks/keys.js'
import { sqlRows } from './attacks/sql.js'
import { largeSubscriptions } from './attacks/subscriptions.js'
import { unreadAnswers, unreadSocket } from './attacks/unread.js'

/** All attacks, in the order of the report. */
export const ATTACKS: readonly Attack[] = [
  unfinishedBodies,
  slowRequests,
  idleConnections,
  unreadAnswers,
  unreadSocket,
  memoryBombs,
  endlessBatches,
  endlessEstimates,
  hostileJson,
  manyBatches,
  guessedKeys,
  fuzzedBytes,
  fuzzedParameters,
  largeSubscriptions,
  forgedSnapshots,
  fullDisk,
  sqlRows,
  endlessClients,
]
