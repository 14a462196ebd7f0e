import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** What a BI tool does over JDBC: looks around, asks, asks with values, previews. One line for each thing it saw. */
public class Ask {
    public static void main(String[] given) throws Exception {
        try (Connection connection = DriverManager.getConnection(given[0], "ana", System.getenv("PGPASSWORD"))) {
            DatabaseMetaData about = connection.getMetaData();
            ResultSet tables = about.getTables(null, "public", "%", new String[] {"TABLE"});
            while (tables.next()) System.out.println("table " + tables.getString("TABLE_NAME"));
            ResultSet columns = about.getColumns(null, "public", "visits", "%");
            while (columns.next()) System.out.println("column " + columns.getString("COLUMN_NAME") + " " + columns.getString("TYPE_NAME"));
            about.getIndexInfo(null, "public", "visits", false, true);
            about.getImportedKeys(null, "public", "visits");
            about.getTypeInfo();
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.setFetchSize(1); // a portal with a limit of rows
                ResultSet rows = statement.executeQuery("SELECT faculty, AVG(time) AS minutes, COUNT(*) AS n FROM visits GROUP BY faculty");
                while (rows.next())
                    System.out.println("row " + rows.getString("faculty") + " " + (rows.getDouble("minutes") >= 0) + " " + rows.getLong("n"));
                System.out.println("warning " + statement.getWarnings().getMessage());
            }
            connection.commit();
            connection.setAutoCommit(true);
            try (PreparedStatement counted = connection.prepareStatement("SELECT COUNT(*) AS n FROM visits WHERE faculty = ?")) {
                for (int i = 0; i < 7; i++) { // from the fifth time on it is prepared on the server, and comes in binary
                    counted.setString(1, "math");
                    ResultSet rows = counted.executeQuery();
                    rows.next();
                    System.out.println("counted " + rows.getLong(1));
                }
            }
            try (Statement statement = connection.createStatement()) {
                statement.setMaxRows(200);
                statement.executeQuery("SELECT * FROM visits");
            } catch (SQLException refused) {
                System.out.println("refused " + refused.getSQLState());
            }
            System.out.println("valid " + connection.isValid(5));
        }
    }
}
