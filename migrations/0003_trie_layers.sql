CREATE TABLE `trie_layer_parts` (
	`id` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `trie_layers` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`block_number` integer NOT NULL,
	`top` blob NOT NULL,
	`accounts` integer NOT NULL,
	`parts` integer NOT NULL
);
--> statement-breakpoint
DELETE FROM `trie_page_versions`;
--> statement-breakpoint
UPDATE `meta` SET `value` = json_remove(`value`, '$.history') WHERE `key` = 'state_trie';
