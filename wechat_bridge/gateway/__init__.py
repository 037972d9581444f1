"""What happens to an event, one verb per file, in the order in which it moves.

::

    ingest      an envelope, whatever the source: parse, validate, dedupe, keep; then answer
    adapters/   read a payload by its content type
    schemas/    hold it to the schema of its type
    dedupe      know what was there before, in one round trip to Redis
    dedupe_keys, templates, versions   what makes two events the same, or one of them out of date
    degrade     leave Redis alone while it does not answer, and tell somebody
    keep        make it durable: in the ledger, in Redis while that is away; what neither keeps is not taken
    windows     let events of one key wait for each other, and go on as one
    merge       what several become
    dispatch    hand an event over
    routes, targets   who gets it
    failure     what an error does to it: try again, give up
    dead        record what was given up; resubmit tries it again
    retention   remove what has ended long ago
    sweep       beat: ring again whatever is overdue, take over from dead owners

The same event never goes on twice because its name is unique in the ledger; Redis only answers faster. Whoever is told
that an event is taken need not send it again: it will be dispatched, or end as a dead letter.
"""
