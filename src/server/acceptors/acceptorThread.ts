import { parentPort, workerData } from 'node:worker_threads'
import { cryptoImplementations } from '../../chain/crypto.js'
import { messageOf } from '../../lib/errors.js'
import { createFailureLog } from '../../lib/failureLog.js'
import { createLogger } from '../../lib/logger.js'
import { createMetrics, type MetricFigures, readFigures } from '../../lib/metrics.js'
import { openContext } from '../../rpc/core/openContext.js'
import { loadMethods } from '../../rpc/loadMethods.js'
import { createApiKeyReader } from '../../store/keys/apiKeys.js'
import { createAccess } from '../access/access.js'
import { createRateLimiter } from '../access/rateLimit.js'
import { measureCalls } from '../admin/callMetrics.js'
import { createAdmission } from '../admission/admission.js'
import { createRefusalCounter } from '../admission/refusals.js'
import { BACKLOG, shareConnectionSlots } from '../connections/connections.js'
import { createHeadTracker } from '../head/headTracker.js'
import { createAcceptorServer } from './acceptorServer.js'
import { createLocalDispatcher, passOn } from './localCalls.js'
import { localMethods } from './localMethods.js'
import type { AcceptorCommand, AcceptorData, AcceptorReport } from './messages.js'
import { RequestPasser } from './requestPasser.js'
import { createThreadRecords } from './threadRecords.js'

/* Entry point of an acceptor thread: a server on the port of the main thread, with a read-only connection of its
 * own. */

/** How often figures are reported while there are new ones. */
const REPORT_MS = 250

const IDLE_CHECK_MS = 100

const port = parentPort!
const data = workerData as AcceptorData
const post = (report: AcceptorReport) => port.postMessage(report)
const log = createLogger(data.logging)
const opened = openContext({ ...data, log, mainThread: true })
const { db, context, watch } = opened
const metrics = createMetrics()
const failures = createFailureLog(log, 'the database')
const methods = localMethods(await loadMethods(data.methodsModule), data.inlineCalls)
const limiter = createRateLimiter()
const access = createAccess({ ...data, keys: createApiKeyReader(db), methods, limiter, failures })
if (data.inlineCalls) cryptoImplementations() // loads them, so that the first ECRECOVER does not
const dispatcher = measureCalls(
  await createLocalDispatcher(opened, {
    ...{ methods, metrics, log },
    runsCalls: data.inlineCalls,
    cacheBytes: data.responseCacheBytes,
  }),
  methods,
  metrics,
)
const records = createThreadRecords(data.records, post)
const passer = new RequestPasser(post)
let calls = 0
const { server, closeIdle, closeAll } = createAcceptorServer({
  ...{ data, dispatcher, access, limiter, methods, metrics, passer, log },
  admission: createAdmission(data.serverLimits, methods, metrics),
  head: createHeadTracker({ chain: context.chain, watch }, 0),
  refusals: createRefusalCounter(metrics),
  limits: data.serverLimits,
  cors: data.cors,
  compression: data.compression,
  connectionSlots: shareConnectionSlots(data.connectionSlots, data.thread),
  accounting: records.accounting,
  subscriptions: { filtersOf: passOn },
  onCall: () => void calls++,
})
const reporting = setInterval(() => {
  if (calls > 0) report()
}, REPORT_MS).unref()
let idleCheck: NodeJS.Timeout | undefined

port.on('message', (command: AcceptorCommand) => {
  switch (command.kind) {
    case 'bucket':
      limiter.adopt(command.keyId, command.memory)
      break
    case 'report':
      report()
      break
    case 'stop':
      stop()
      break
    case 'cut':
      closeAll()
      break
    default:
      passer.receive(command)
  }
})
server.once('error', (error) => {
  post({ kind: 'failed', message: messageOf(error) })
  process.exit() // this thread
})
server.listen({ host: data.host, port: data.port, backlog: BACKLOG, reusePort: true }, () =>
  post({ kind: 'listening' }),
)

function report(): void {
  const own = calls
  calls = 0
  post({ kind: 'figures', metrics: readFigures(metrics).filter(isOwn), calls: own, usage: records.takeUsage() })
}

/** The limit of connections is that of all threads. */
function isOwn({ name }: MetricFigures[number]): boolean {
  return name !== 'cairn_connections_limit'
}

/** Closes the port; exits when all requests are answered. */
function stop(): void {
  idleCheck ??= setInterval(closeIdle, IDLE_CHECK_MS)
  server.close(() => {
    clearInterval(idleCheck)
    clearInterval(reporting)
    records.flush()
    report()
    process.exit() // this thread
  })
  closeIdle()
}
