ALTER TABLE `api_keys` ADD `rate_limit` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `max_concurrent` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `methods` text;