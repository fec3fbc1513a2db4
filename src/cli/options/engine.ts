import { UsageError } from '../../lib/errors.js'
import type { Option } from './option.js'
import { maybeText } from './rows.js'

/** Where the Engine API listens. */
export interface EngineAddress {
  readonly host: string
  readonly port: number
}

/** Options under the heading "Consensus client". */
export const engineOptions = {
  engineApi: {
    flag: 'engine',
    placeholder: '[HOST:]PORT',
    default: undefined as EngineAddress | undefined,
    defaultText: 'none',
    doc:
      'Serve the Engine API on this port, so that a consensus client drives the chain, usually 8551. The upstreams are not followed then: ' +
      'they fill gaps by hash, and have the state that sparse state lacks. Needs --jwt-secret. Blocks are not built: not for validators.',
    commands: ['serve'],
    parse: parseEngineAddress,
  },
  jwtSecret: maybeText(
    'jwt-secret',
    'FILE',
    ['serve'],
    'File with the secret that the consensus client has too: 32 bytes as hex.',
    'none',
  ),
} as const satisfies { [key: string]: Option<unknown> }

/** @throws UsageError */
function parseEngineAddress(text: string): EngineAddress {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-f:.]+)\]:|([^:[\]]+):)?(\d{1,5})$/i.exec(text) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535) {
    throw new UsageError(`--engine: expected PORT or HOST:PORT, got ${JSON.stringify(text)}`)
  }
  return { host: bracketed ?? plain ?? '127.0.0.1', port }
}
