import { COMMANDS, type Command, type Option } from './option.js'
import { maybeText, text } from './rows.js'

const WITHOUT_DATABASE: readonly Command[] = ['record', 'completion', 'version', 'help']

/** Name of the configuration file that is used where it is in the working directory. */
export const CONFIG_FILE = 'cairn.toml'
/** Value of --config for no file at all. */
export const NO_CONFIG = 'none'

/** Commands without a configuration file, which run on any Node. */
export const WITHOUT_FILE: readonly Command[] = ['completion', 'version', 'help']

/** Options under the heading "Database". */
export const databaseOptions = {
  datadir: text(
    'datadir',
    'DIR',
    './data',
    COMMANDS.filter((command) => !WITHOUT_DATABASE.includes(command)),
    'Directory of the database.',
  ),
  config: maybeText(
    'config',
    'FILE|none',
    COMMANDS.filter((command) => !WITHOUT_FILE.includes(command)),
    'Configuration file in TOML or JSON (docs/operators.md), which the command line and the environment override. none: no file.',
    'cairn.toml in the working directory, if it is there',
  ),
} as const satisfies { [key: string]: Option<unknown> }
