---- MODULE AnotherName ----
====
