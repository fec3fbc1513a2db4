import type { CompressMode } from '../../server/http/compression.js'
import { COMPRESS_MODES } from '../../server/http/compression.js'
import type { Option } from './option.js'
import { flag, maybeNumber, maybeText, number, oneOf, parseSwitch, text } from './rows.js'

/** Options under the heading "Network". */
export const networkOptions = {
  host: text('host', 'HOST', '127.0.0.1', ['serve'], 'Address to listen on.'),
  port: number('port', 'PORT', 8545, ['serve'], { min: 0, max: 65_535, doc: 'Port to listen on; 0 picks a free one.' }),
  cors: maybeText(
    'cors',
    'ORIGINS',
    ['serve'],
    'Origins of web pages that may read responses (CORS), comma-separated; * allows all.',
    'localhost and loopback addresses if open on loopback, else none',
  ),
  plainHttp: {
    flag: 'plain-http',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc:
      "Read plain POSTs straight from the socket, which raises the rate of small calls; off leaves every request to Node's " +
      'HTTP parser.',
    commands: ['serve'],
    parse: parseSwitch('plain-http'),
  },
  acceptThreads: number('accept-threads', 'N', 0, ['serve'], {
    min: 0,
    max: 64,
    doc:
      'Threads that accept connections beside the main thread, and answer small calls themselves: more calls a ' +
      'second over many connections, each a little later. Only on Linux, with --plain-http on.',
  }),
  page: {
    flag: 'page',
    placeholder: 'on|off',
    default: undefined as boolean | undefined,
    defaultText: 'on if --host is a loopback address, else off',
    doc: 'Serve the page for browsers at / of the port for calls.',
    commands: ['serve'],
    parse: parseSwitch('page'),
  },
  metrics: flag(
    'metrics',
    ['serve'],
    'Serve Prometheus metrics at /metrics of the port for calls; no key is asked for.',
  ),
  metricsPort: maybeNumber('metrics-port', 'PORT', ['serve'], {
    min: 0,
    max: 65_535,
    doc: 'Port of its own for /metrics, /health and /ready; 0 takes a free one.',
    defaultText: 'none',
  }),
  metricsHost: text('metrics-host', 'HOST', '127.0.0.1', ['serve'], 'Address to listen on for --metrics-port.'),
  maxLag: maybeNumber('max-lag', 'N', ['serve'], {
    min: 0,
    max: 1_000_000,
    unit: 'blocks',
    doc:
      'Most blocks that the chain may be behind while /ready answers 200: behind the writer, or behind the upstream. A replica ' +
      'that has stopped is not ready either, nor a follower that has been stopped for --max-lag-seconds. 0: no limit.',
    defaultText: '16 for a replica, else no limit',
  }),
  maxLagSeconds: maybeNumber('max-lag-seconds', 'SECONDS', ['serve'], {
    min: 0,
    max: 31_536_000,
    unit: 'seconds',
    doc:
      'Most seconds that a replica may be behind, or a follower stopped, while /ready answers 200. Without contact with its source, the seconds since the last ' +
      'contact count. 0: no limit, it then answers from its last block for as long as it is cut off.',
    defaultText: '60 for a replica, and for a follower with --max-lag; no limit with --max-lag 0',
  }),
  allowedHosts: maybeText(
    'allowed-hosts',
    'NAMES',
    ['serve'],
    'Accepted Host headers besides localhost, loopback addresses and --host, comma-separated; * accepts all.',
    'none on loopback, else all',
  ),
  compress: {
    flag: 'compress',
    placeholder: COMPRESS_MODES.join('|'),
    default: 'auto' as CompressMode,
    doc:
      'Compress HTTP responses with brotli or gzip; auto: not for clients on this machine, where it takes longer. Set on ' +
      'behind a local proxy that forwards Accept-Encoding.',
    commands: ['serve'],
    parse: oneOf('compress', COMPRESS_MODES),
  },
  compressAbove: number('compress-above', 'KIB', 64, ['serve'], {
    min: 0,
    max: 1_048_576,
    unit: 'KiB',
    doc: 'Responses up to this size are not compressed.',
  }),
} as const satisfies { [key: string]: Option<unknown> }
